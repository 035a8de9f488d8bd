-- Workloads are found by others that are like them: by their structure, and by where they lie among those of the same structure.
-- The shape_ functions are those of src/store/sqlite/migration-functions.ts; they give null for what is no workload.

-- Sizes are logarithms to base 2, of all dimensions of a kind together.
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

-- The fastest trials of a subject without reading all of them.
DROP INDEX trial_of_subject;
CREATE INDEX trial_of_subject ON trial (subject, ratio);
