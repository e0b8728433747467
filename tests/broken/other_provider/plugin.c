/* The binary offers another provider than the manifest says. */
#define TINY_PROVIDER "surprise"
#include "tiny.h"
