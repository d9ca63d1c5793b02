// The part of docs/state.md that is about tasks and meshes: another generation's.

#ifndef PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_
#define PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_

void Meshes();

#endif  // PACKSMITH_DOCS_EXAMPLES_STATE_MESHES_H_
