/* Its section headers are then taken away, as some strippers do: it loads. */
#include "tiny.h"
