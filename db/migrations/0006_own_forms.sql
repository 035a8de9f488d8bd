-- What this database's own builds have said that a key stands for, where others have said something else: what comes from
-- them merges in `form`, and is not read in its place.

ALTER TABLE target   ADD COLUMN own TEXT CHECK (json_valid(own));
ALTER TABLE device   ADD COLUMN own TEXT CHECK (json_valid(own));
ALTER TABLE compiler ADD COLUMN own TEXT CHECK (json_valid(own));
