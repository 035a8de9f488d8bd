// Features of tiles, from which a prior predicts the speed. All sizes are logarithms to base 2, so that a prior holds for other shapes, too.
import { elementBits } from '../../workload/element-type.ts';
import type { DimensionKind } from '../../workload/sizes.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { TileConfiguration } from './configuration.ts';
import { laneDimension, lanesOf, rowDimension } from './tile-knobs.ts';

/** Names of the features, in their order. A prior with other names comes from another version of this program. */
export const FEATURES = [
  ...['vectorBytes', 'vectorRegisters', 'lhsBytes', 'rhsBytes', 'accumulatorBytes'],
  ...['m', 'n', 'k', 'batch', 'bytes', 'lhsInL1', 'rhsInL2'],
  ...['rows', 'vectors', 'depth', 'accumulators', 'registers', 'spilled', 'broadcasts', 'loads'],
  ...['otherRows', 'rowRemainder', 'laneRemainder', 'depthRemainder', 'partVector', 'peeling'],
  ...['workgroupM', 'workgroupN', 'workgroups', 'idle', 'workgroupRemainderM', 'workgroupRemainderN'],
  ...['panelA', 'panelB', 'panelC', 'tilesM', 'tilesN', 'tilesK'],
  ...['hasCache', 'hasCacheK', 'cacheM', 'cacheN', 'cacheK', 'cachedA', 'cachedB', 'cachedC'],
] as const;

const log = (value: number): number => Math.log2(Math.max(value, 2 ** -10));

/** The features of tiles for a workload. Pure. */
export function tileFeatures(
  workload: OperationWork,
  c: TileConfiguration,
  options: Pick<SpaceOptions, 'nativeVectorBytes' | 'vectorRegisters' | 'threads'>,
): number[] {
  const { dimensions, lhs, rhs, accumulator } = workload;
  const product = (kind: DimensionKind, of: (d: number, size: number) => number) =>
    dimensions.reduce((all, one, d) => (one.kind === kind ? all * of(d, one.size) : all), 1);
  const size = (_: number, own: number) => own;
  const whole = (kind: DimensionKind) => product(kind, size);
  const [m, n, k, batch] = [whole('m'), whole('n'), whole('k'), whole('batch')];
  const bytesOf = ({ elementType }: { readonly elementType: string }) => elementBits(elementType) / 8;
  const [a, b, r] = [bytesOf(lhs), bytesOf(rhs), bytesOf(accumulator)];
  const lanes = lanesOf(workload, options);
  const [lane, row] = [laneDimension(workload), rowDimension(workload)];
  const tile = (tiles: readonly number[] | undefined, otherwise: (d: number, own: number) => number) => {
    return (d: number, own: number) => Math.min(own, (tiles?.[d] ?? 0) || otherwise(d, own));
  };
  const vector = tile(c.vectorCommonParallel, size);
  const laneSize = dimensions[lane]?.size ?? 1;
  const laneTile = vector(lane, laneSize);
  const vectors = Math.ceil(laneTile / lanes);
  const rows = dimensions.reduce(
    (all, one, d) => (one.kind !== 'k' && d !== lane ? all * vector(d, one.size) : all),
    1,
  );
  const ownRows = row < 0 ? 1 : vector(row, dimensions[row]!.size);
  const depth = product('k', tile(c.vectorReduction, size));
  const accumulators = rows * vectors;
  const live = accumulators + vectors + 1;
  const workgroup = tile(c.distribution, size);
  const [wm, wn] = [product('m', workgroup), product('n', workgroup)];
  const count = (of: (d: number, own: number) => number) =>
    dimensions.reduce(
      (all, one, d) => (one.kind === 'k' ? all : all * Math.ceil(one.size / of(d, one.size))),
      1,
    );
  const workgroups = count(workgroup);
  const rounds = Math.ceil(workgroups / options.threads);
  const remainder = (own: number, of: number) => (own % of) / own;
  const rowSize = row < 0 ? 1 : dimensions[row]!.size;
  const cache = tile(c.cacheParallel, workgroup);
  const [cm, cn] = [product('m', cache), product('n', cache)];
  const ck = product('k', tile(c.cacheReduction, size));
  return [
    ...[log(options.nativeVectorBytes), options.vectorRegisters, log(a), log(b), log(r)],
    ...[log(m), log(n), log(k), log(batch)],
    ...[log(a * m * k + b * k * n + r * m * n), log(a * k), log(b * k * n)],
    ...[log(rows), log(vectors), log(depth), log(accumulators)],
    ...[live / options.vectorRegisters, Math.max(0, live - options.vectorRegisters)],
    ...[log(rows / vectors), log((rows + vectors) / accumulators)],
    ...[log(rows / ownRows), remainder(rowSize, ownRows), remainder(laneSize, laneTile)],
    ...[remainder(k, Math.min(k, depth)), (laneTile % lanes) / lanes, c.peeling ? 1 : 0],
    ...[log(wm), log(wn), log(workgroups), 1 - workgroups / (rounds * options.threads)],
    ...[
      remainder(rowSize, row < 0 ? 1 : workgroup(row, rowSize)),
      remainder(laneSize, workgroup(lane, laneSize)),
    ],
    ...[log(a * wm * k), log(b * k * wn), log(r * wm * wn)],
    ...[log(wm / rows), log(wn / laneTile), log(k / depth)],
    ...[c.cacheParallel === undefined ? 0 : 1, c.cacheReduction === undefined ? 0 : 1],
    ...[log(cm), log(cn), log(ck), log(a * cm * ck), log(b * ck * cn), log(r * cm * cn)],
  ];
}
