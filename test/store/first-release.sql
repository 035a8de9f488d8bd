-- A tuning database as the first release has left it: two workloads tuned, one missed. Of each search the first five trials.
PRAGMA application_id = 1230128500;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE workload (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;
INSERT INTO workload VALUES(1,'contraction m=61 n=67 k=71 f32,f32->f32 mk,kn->mn','{"dimensions":[{"kind":"m","size":61},{"kind":"n","size":67},{"kind":"k","size":71}],"lhs":{"elementType":"f32","dimensions":[0,2]},"rhs":{"elementType":"f32","dimensions":[2,1]},"accumulator":{"elementType":"f32","dimensions":[0,1]},"constantRhs":false}');
INSERT INTO workload VALUES(2,'contraction m=63 n=67 k=71 f32,f32->f32 mk,kn->mn','{"dimensions":[{"kind":"m","size":63},{"kind":"n","size":67},{"kind":"k","size":71}],"lhs":{"elementType":"f32","dimensions":[0,2]},"rhs":{"elementType":"f32","dimensions":[2,1]},"accumulator":{"elementType":"f32","dimensions":[0,1]},"constantRhs":false}');
INSERT INTO workload VALUES(3,'contraction m=1 n=1024 k=2048 f32,f32->f32 mk,kn->mn','{"dimensions":[{"kind":"m","size":1},{"kind":"n","size":1024},{"kind":"k","size":2048}],"lhs":{"elementType":"f32","dimensions":[0,2]},"rhs":{"elementType":"f32","dimensions":[2,1]},"accumulator":{"elementType":"f32","dimensions":[0,1]},"constantRhs":false}');
CREATE TABLE target (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;
INSERT INTO target VALUES(1,'llvm-cpu x86_64-unknown-unknown-eabi-elf znver3 features=aa8bdb935a','{"backend":"llvm-cpu","triple":"x86_64-unknown-unknown-eabi-elf","cpu":"znver3","features":["64bit","adx","aes","avx","avx2","bmi","bmi2","clflushopt","clwb","clzero","cmov","crc32","cx16","cx8","f16c","fma","fsgsbase","fxsr","invpcid","lzcnt","mmx","movbe","pclmul","popcnt","prfchw","rdpid","rdrnd","rdseed","sahf","sha","shstk","sse","sse2","sse3","sse4.1","sse4.2","sse4a","ssse3","vaes","vpclmulqdq","x87","xsave","xsavec","xsaveopt","xsaves"],"nativeVectorBytes":32,"flags":[]}');
CREATE TABLE device (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;
INSERT INTO device VALUES(1,'AMD EPYC (25/1/1) local-sync threads=1 caches=32/512/32768K','{"model":"AMD EPYC (25/1/1)","driver":"local-sync","threads":1,"cachesKiB":[32,512,32768]}');
CREATE TABLE compiler (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE CHECK (key <> ''),
  form TEXT NOT NULL CHECK (json_valid(form))
) STRICT;
INSERT INTO compiler VALUES(1,'3.13.0rc20261016@89ece87b89','{"version":"3.13.0rc20261016","commit":"89ece87b89852100c0a4ac3d515e14842d090967","key":"3.13.0rc20261016@89ece87b89","release":[3,13,0]}');
CREATE TABLE subject (
  id       INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target   INTEGER NOT NULL REFERENCES target (id),
  compiler INTEGER NOT NULL REFERENCES compiler (id),
  device   INTEGER NOT NULL REFERENCES device (id),
  UNIQUE (workload, target, compiler, device)
) STRICT;
INSERT INTO subject VALUES(1,1,1,1,1);
INSERT INTO subject VALUES(2,2,1,1,1);
INSERT INTO subject VALUES(3,3,1,1,1);
CREATE TABLE record (
  subject         INTEGER PRIMARY KEY REFERENCES subject (id),
  configuration   TEXT NOT NULL CHECK (json_valid(configuration)),
  ratio           REAL NOT NULL CHECK (ratio > 0 AND ratio < 9e999),
  low             REAL NOT NULL CHECK (low > 0 AND low < 9e999),
  high            REAL NOT NULL CHECK (high > 0 AND high < 9e999),
  default_seconds REAL NOT NULL CHECK (default_seconds > 0 AND default_seconds < 9e999),
  seconds         REAL NOT NULL CHECK (seconds > 0 AND seconds < 9e999),
  processes       INTEGER NOT NULL CHECK (processes > 0),
  repetitions     INTEGER NOT NULL CHECK (repetitions > 0),
  noise_floor     REAL NOT NULL CHECK (noise_floor >= 0 AND noise_floor < 9e999),
  max_error       REAL NOT NULL CHECK (max_error >= 0 AND max_error < 9e999),
  trials          INTEGER NOT NULL CHECK (trials >= 0),
  tuning_seconds  REAL NOT NULL CHECK (tuning_seconds >= 0 AND tuning_seconds < 9e999),
  complete        INTEGER NOT NULL CHECK (complete IN (0, 1)),
  failure         TEXT,
  created_at      TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  created_by      TEXT NOT NULL,
  CHECK (low <= ratio AND ratio <= high)
) STRICT;
INSERT INTO record VALUES(1,'{"version":1,"kind":"default"}',1.0,1.0,1.0,2.9856358983559512803e-05,2.9856358983559512803e-05,13,65,0.20243905585614108133,0.0,11,60.137917866999998752,0,NULL,'2026-11-22T21:59:49.049Z','root');
INSERT INTO record VALUES(3,'{"version":1,"kind":"tile","distribution":[1,512,0],"cacheReduction":[0,0,128],"vectorCommonParallel":[1,64,0],"vectorReduction":[0,0,4],"peeling":false}',10.535689374309997745,8.9157595319165139358,12.449948901671206158,0.0027802728180342287621,0.00028336902998489678492,5,25,0.086405417297264142106,0.0,17,17.632514805999999652,1,NULL,'2026-11-22T22:18:03.603Z','root');
CREATE TABLE trial (
  id            INTEGER PRIMARY KEY,
  subject       INTEGER NOT NULL REFERENCES subject (id),
  configuration TEXT NOT NULL CHECK (json_valid(configuration)),
  outcome       TEXT NOT NULL
                CHECK (outcome IN ('measured', 'compile-error', 'run-error', 'timeout', 'wrong-result')),
  seconds       REAL CHECK (seconds > 0 AND seconds < 9e999),
  ratio         REAL CHECK (ratio > 0 AND ratio < 9e999),
  message       TEXT,
  strategy      TEXT NOT NULL,
  created_at    TEXT NOT NULL CHECK (created_at GLOB '????-??-??T??:??:??*Z'),
  CHECK ((outcome = 'measured') = (seconds IS NOT NULL)),
  CHECK (outcome = 'measured' OR ratio IS NULL)
) STRICT;
INSERT INTO trial VALUES(1,1,'{"version":1,"kind":"default"}','measured',4.3533379335587658659e-05,1.0,NULL,'descent','2026-11-22T21:59:14.040Z');
INSERT INTO trial VALUES(2,1,'{"version":1,"kind":"tile","distribution":[64,80,0],"vectorCommonParallel":[8,16,0],"vectorReduction":[0,0,4],"peeling":true}','measured',4.1964092807591412076e-05,1.037395935977730943,NULL,'descent','2026-11-22T21:59:14.040Z');
INSERT INTO trial VALUES(3,1,'{"version":1,"kind":"tile","distribution":[64,80,0],"vectorCommonParallel":[8,16,0],"vectorReduction":[0,0,1],"peeling":true}','measured',7.3604672621235261585e-05,0.59144858315731563269,NULL,'descent','2026-11-22T21:59:14.040Z');
INSERT INTO trial VALUES(4,1,'{"version":1,"kind":"tile","distribution":[64,80,0],"vectorCommonParallel":[4,32,0],"vectorReduction":[0,0,4],"peeling":true}','measured',4.2523384077947593432e-05,1.0237515258848799426,NULL,'descent','2026-11-22T21:59:14.040Z');
INSERT INTO trial VALUES(5,1,'{"version":1,"kind":"tile","distribution":[64,80,0],"vectorCommonParallel":[12,16,0],"vectorReduction":[0,0,1],"peeling":true}','measured',6.4070437153087940918e-05,0.67946125030441628656,NULL,'descent','2026-11-22T21:59:14.040Z');
INSERT INTO trial VALUES(21,3,'{"version":1,"kind":"default"}','measured',0.0032322570002634165575,1.0,NULL,'descent','2026-11-22T22:17:52.571Z');
INSERT INTO trial VALUES(22,3,'{"version":1,"kind":"tile","distribution":[1,256,0],"vectorCommonParallel":[1,16,0],"vectorReduction":[0,0,4],"peeling":false}','measured',0.0013188541668114339699,2.4508069820016387119,NULL,'descent','2026-11-22T22:17:52.571Z');
INSERT INTO trial VALUES(23,3,'{"version":1,"kind":"tile","distribution":[1,1024,0],"vectorCommonParallel":[1,16,0],"vectorReduction":[0,0,1],"peeling":false}','measured',0.0016968149998969497913,1.9048965269989459603,NULL,'descent','2026-11-22T22:17:52.571Z');
INSERT INTO trial VALUES(24,3,'{"version":1,"kind":"tile","distribution":[1,256,0],"vectorCommonParallel":[1,32,0],"vectorReduction":[0,0,4],"peeling":false}','measured',0.00071720360004595327084,4.5067495479056667306,NULL,'descent','2026-11-22T22:17:52.571Z');
INSERT INTO trial VALUES(25,3,'{"version":1,"kind":"tile","distribution":[1,256,0],"vectorCommonParallel":[1,16,0],"vectorReduction":[0,0,1],"peeling":false}','measured',0.001373866899939457653,2.3526711360509908743,NULL,'descent','2026-11-22T22:17:52.571Z');
CREATE TABLE miss (
  subject      INTEGER PRIMARY KEY REFERENCES subject (id),
  count        INTEGER NOT NULL CHECK (count > 0),
  last_seen_at TEXT NOT NULL CHECK (last_seen_at GLOB '????-??-??T??:??:??*Z')
) STRICT;
INSERT INTO miss VALUES(2,1,'2026-11-22T21:59:49.303Z');
CREATE TABLE counter (
  name  TEXT PRIMARY KEY CHECK (name <> ''),
  value REAL NOT NULL CHECK (value > -9e999 AND value < 9e999)
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES('compiles',2.0);
INSERT INTO counter VALUES('default: no record, and tuning is off (on-miss=record)',1.0);
INSERT INTO counter VALUES('operations: default',1.0);
INSERT INTO counter VALUES('operations: hit',1.0);
INSERT INTO counter VALUES('unchanged: no operation has a configuration better than the default',2.0);
CREATE INDEX trial_of_subject ON trial (subject);
COMMIT;
