/* A model, made C by murphi2c, as a thing to be driven: its variables as numbers, and each rule
 * with each choice of its parameters as a step. ci/model_steps.py writes what is declared here. */
#ifndef CAIRN_INVARIANTS_PROTOCOL_STEPS_H
#define CAIRN_INVARIANTS_PROTOCOL_STEPS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All variables, as bytes. */
size_t model_size(void);
void model_save(unsigned char* bytes);
void model_restore(const unsigned char* bytes);

/* The variables of the allocator, as the lines of transitions have them; the others are made what
 * they are where no operation is under way and nothing runs. */
int model_numbers(void);
void model_read(const int* numbers);
void model_write(int* numbers);

/* Steps, but for those of the world. */
int model_steps(void);
const char* model_rule(int step);
const char* model_answer(int step); /* The driver's, or "". */
int model_may(int step);
void model_do(int step);

/* An invariant that does not hold now, or null. */
const char* model_broken(void);

#ifdef __cplusplus
}
#endif

#endif
