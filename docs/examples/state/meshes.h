// The part of docs/state.md about tasks and meshes, which need another generation.

#ifndef PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_
#define PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_

void Meshes();

#endif  // PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_
