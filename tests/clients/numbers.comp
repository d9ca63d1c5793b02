#version 450

layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Numbers { uint numbers[]; };

void main() { numbers[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x; }
