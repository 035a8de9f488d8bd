-- This machine's own description of a key, if it differs from the merged `form`. Readers prefer it.

ALTER TABLE target   ADD COLUMN own TEXT CHECK (json_valid(own));
ALTER TABLE device   ADD COLUMN own TEXT CHECK (json_valid(own));
ALTER TABLE compiler ADD COLUMN own TEXT CHECK (json_valid(own));
