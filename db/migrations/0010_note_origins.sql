-- Notes about programs have origins, so that databases exchange them and a revocation hides them: a note of each user on each machine.
-- The origin of earlier notes is unknown.

CREATE TABLE program_note_with_origin (
  program    TEXT NOT NULL, -- digest of the input, flags, target, device and compiler, as JSON
  kind       TEXT NOT NULL CHECK (kind IN ('program', 'forms', 'times')),
  note       TEXT NOT NULL CHECK (json_valid(note)),
  written_at TEXT NOT NULL, -- ISO 8601 UTC
  created_by TEXT NOT NULL,
  machine    TEXT NOT NULL,
  tool       TEXT NOT NULL,
  PRIMARY KEY (program, kind, created_by, machine)
) STRICT, WITHOUT ROWID;

INSERT INTO program_note_with_origin
SELECT program, kind, note, written_at, 'unknown', 'unknown', 'unknown' FROM program_note;
DROP TABLE program_note;
ALTER TABLE program_note_with_origin RENAME TO program_note;
