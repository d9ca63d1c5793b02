// A program that does nothing, for start.py.
int main() { return 0; }
