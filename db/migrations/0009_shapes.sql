-- Finds similar workloads: by structure, and by the place among workloads of the same structure.
-- The shape_ functions are in src/store/sqlite/migration-functions.ts. They return null for an invalid workload.

-- Sizes are base-2 logarithms of the product of all dimensions of a kind.
CREATE TABLE shape (
  workload  INTEGER PRIMARY KEY REFERENCES workload (id) ON DELETE CASCADE,
  structure INTEGER NOT NULL,
  place     INTEGER NOT NULL,
  log_batch REAL NOT NULL,
  log_m     REAL NOT NULL,
  log_n     REAL NOT NULL,
  log_k     REAL NOT NULL
) STRICT;

INSERT INTO shape
SELECT id, shape_structure(form), shape_place(form),
       shape_size(form, 0), shape_size(form, 1), shape_size(form, 2), shape_size(form, 3)
FROM workload WHERE shape_structure(form) IS NOT NULL;

CREATE INDEX shape_by_place ON shape (structure, place, log_batch, log_m, log_n, log_k);

-- An index for the fastest trials of a subject.
DROP INDEX trial_of_subject;
CREATE INDEX trial_of_subject ON trial (subject, ratio);
