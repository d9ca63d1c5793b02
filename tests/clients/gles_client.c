// OpenGL ES without a display. Shaders are not executed, so pixels are not looked at; times are.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
// After it, whose types it uses.
#include <GLES2/gl2ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { kWidth = 64 };

static GLuint compile(GLenum stage, const char* text) {
  const GLuint shader = glCreateShader(stage);
  glShaderSource(shader, 1, &text, NULL);
  glCompileShader(shader);
  GLint good = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  EXPECT(good);
  return shader;
}

static uint64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void draw(void) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, compile(GL_VERTEX_SHADER,
                                  "attribute vec4 place;\n"
                                  "void main() { gl_Position = place; }\n"));
  glAttachShader(program, compile(GL_FRAGMENT_SHADER,
                                  "precision mediump float;\n"
                                  "uniform vec4 colour;\n"
                                  "void main() { gl_FragColor = colour; }\n"));
  glBindAttribLocation(program, 0, "place");
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  EXPECT(linked);
  GLuint renderbuffer, framebuffer, vertices;
  glGenRenderbuffers(1, &renderbuffer);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8_OES, kWidth, kWidth);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
  EXPECT(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE);
  static const float places[] = {-1, -1, 3, -1, -1, 3};
  glGenBuffers(1, &vertices);
  glBindBuffer(GL_ARRAY_BUFFER, vertices);
  glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
  glEnableVertexAttribArray(0);
  glViewport(0, 0, kWidth, kWidth);
  glClearColor(0, 0, 1, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glUseProgram(program);
  glUniform4f(glGetUniformLocation(program, "colour"), 1, 0.5f, 0.25f, 1);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  static unsigned char pixels[kWidth * kWidth * 4];
  glReadPixels(0, 0, kWidth, kWidth, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  glFinish();
  EXPECT(glGetError() == GL_NO_ERROR);
  printf("draw: good\n");
}

// What the GPU writes itself: its time, before and after 20 ms.
static void times(void) {
  const char* extensions = (const char*)glGetString(GL_EXTENSIONS);
  if (strstr(extensions, "GL_EXT_disjoint_timer_query") == NULL) {
    printf("times: none\n");
    return;
  }
  const PFNGLGENQUERIESEXTPROC generate =
      (PFNGLGENQUERIESEXTPROC)eglGetProcAddress("glGenQueriesEXT");
  const PFNGLQUERYCOUNTEREXTPROC query =
      (PFNGLQUERYCOUNTEREXTPROC)eglGetProcAddress("glQueryCounterEXT");
  const PFNGLGETQUERYOBJECTUI64VEXTPROC result =
      (PFNGLGETQUERYOBJECTUI64VEXTPROC)eglGetProcAddress("glGetQueryObjectui64vEXT");
  GLuint queries[2];
  generate(2, queries);
  GLuint64 values[2];
  const uint64_t before = now();
  query(queries[0], GL_TIMESTAMP_EXT);
  result(queries[0], GL_QUERY_RESULT_EXT, &values[0]);
  const uint64_t between = now();
  const struct timespec time = {.tv_nsec = 20000000};
  nanosleep(&time, NULL);
  const uint64_t later = now();
  query(queries[1], GL_TIMESTAMP_EXT);
  result(queries[1], GL_QUERY_RESULT_EXT, &values[1]);
  const uint64_t after = now();
  printf("%llu %llu\n", (unsigned long long)values[0], (unsigned long long)values[1]);
  // Ticks are shorter than a microsecond.
  EXPECT(values[0] < values[1]);
  EXPECT(values[1] - values[0] + 1000 >= later - between);
  EXPECT(values[1] - values[0] <= after - before + 1000);
  EXPECT(glGetError() == GL_NO_ERROR);
  printf("times: good\n");
}

// A fence of the driver's, for work that is submitted and not waited for.
static void fence(void) {
  glClear(GL_COLOR_BUFFER_BIT);
  const GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  EXPECT(glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 20000000000u) != GL_TIMEOUT_EXPIRED);
  GLint status = 0;
  glGetSynciv(sync, GL_SYNC_STATUS, 1, NULL, &status);
  EXPECT(status == GL_SIGNALED);
  glDeleteSync(sync);
  EXPECT(glGetError() == GL_NO_ERROR);
  printf("fence: good\n");
}

int main(void) {
  const EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
  EGLint major, minor;
  EXPECT(eglInitialize(display, &major, &minor));
  EXPECT(eglBindAPI(EGL_OPENGL_ES_API));
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  EXPECT(eglChooseConfig(display, wanted, &config, 1, &count) && count == 1);
  EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  const int three = context != EGL_NO_CONTEXT;
  version[1] = 2;
  if (!three) context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  EXPECT(context != EGL_NO_CONTEXT);
  EXPECT(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
  printf("%s, %s\n", (const char*)glGetString(GL_RENDERER), (const char*)glGetString(GL_VERSION));
  draw();
  times();
  if (three) fence();
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display, context);
  eglTerminate(display);
  return 0;
}
