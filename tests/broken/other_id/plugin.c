/* The binary has another id than the manifest. */
#define TINY_ID "org.example.somebody_else"
#include "tiny.h"
