// Draws many triangles with OpenGL ES, without a display, and prints how much processor time that
// took in this process. With INTEL_DEBUG=bat, Mesa's driver decodes each batch that it submits: the
// difference is what its decoder takes.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { kWidth = 64, kPrograms = 2 };

static GLuint compile(GLenum stage, const char* text) {
  const GLuint shader = glCreateShader(stage);
  glShaderSource(shader, 1, &text, NULL);
  glCompileShader(shader);
  return shader;
}

static GLuint link_program(const char* fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, compile(GL_VERTEX_SHADER,
                                  "attribute vec4 place;\n"
                                  "void main() { gl_Position = place; }\n"));
  glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment));
  glBindAttribLocation(program, 0, "place");
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  EXPECT(linked);
  return program;
}

static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char** argv) {
  EXPECT(argc == 3);
  const int frames = atoi(argv[1]), draws = atoi(argv[2]);
  const EGLDisplay display =
      eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  EXPECT(eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API));
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE,
                           EGL_PBUFFER_BIT, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  EXPECT(eglChooseConfig(display, wanted, &config, 1, &count) && count == 1);
  const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  EXPECT(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
  const GLuint programs[kPrograms] = {
      link_program("precision mediump float; uniform vec4 colour;\n"
                   "void main() { gl_FragColor = colour; }\n"),
      link_program("precision mediump float; uniform vec4 colour; uniform sampler2D image;\n"
                   "void main() { gl_FragColor = colour * texture2D(image, colour.xy); }\n")};
  GLuint texture, framebuffer, target, vertices;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glGenTextures(1, &target);
  glBindTexture(GL_TEXTURE_2D, target);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kWidth, kWidth, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glBindTexture(GL_TEXTURE_2D, texture);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
  EXPECT(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE);
  static const float places[] = {-1, -1, 3, -1, -1, 3};
  glGenBuffers(1, &vertices);
  glBindBuffer(GL_ARRAY_BUFFER, vertices);
  glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
  glEnableVertexAttribArray(0);
  for (int frame = 0; frame < frames; ++frame) {
    glClear(GL_COLOR_BUFFER_BIT);
    for (int draw = 0; draw < draws; ++draw) {
      const GLuint program = programs[draw % kPrograms];
      glUseProgram(program);
      glUniform4f(glGetUniformLocation(program, "colour"), (float)draw / (float)draws, 0.5f, 0.25f,
                  1);
      if (draw % 4 < 2) {
        glEnable(GL_BLEND);
      } else {
        glDisable(GL_BLEND);
      }
      glViewport(0, 0, kWidth - draw % 8, kWidth);
      glDrawArrays(GL_TRIANGLES, 0, 3);
    }
    glFinish();
  }
  EXPECT(glGetError() == GL_NO_ERROR);
  printf("%.6f\n", processor_seconds());
  return 0;
}
