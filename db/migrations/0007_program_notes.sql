-- Notes about whole programs from running them: better forms, and configurations that they keep.

CREATE TABLE program_note (
  program    TEXT NOT NULL, -- digest of the input, flags, target, device and compiler, as JSON
  kind       TEXT NOT NULL CHECK (kind IN ('program', 'forms')),
  note       TEXT NOT NULL CHECK (json_valid(note)),
  written_at TEXT NOT NULL, -- ISO 8601 UTC
  PRIMARY KEY (program, kind)
) STRICT, WITHOUT ROWID;
