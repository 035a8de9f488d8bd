-- Notes also hold the times of a program's dispatches.

CREATE TABLE program_note_with_times (
  program    TEXT NOT NULL, -- digest of the input, flags, target, device and compiler, as JSON
  kind       TEXT NOT NULL CHECK (kind IN ('program', 'forms', 'times')),
  note       TEXT NOT NULL CHECK (json_valid(note)),
  written_at TEXT NOT NULL, -- ISO 8601 UTC
  PRIMARY KEY (program, kind)
) STRICT, WITHOUT ROWID;

INSERT INTO program_note_with_times SELECT program, kind, note, written_at FROM program_note;
DROP TABLE program_note;
ALTER TABLE program_note_with_times RENAME TO program_note;
