#version 450

void main() { gl_Position = vec4(gl_VertexIndex % 3, gl_InstanceIndex, 0, 1); }
