import { expect, test } from 'vitest';
import { aHistory } from '@/testing/group-builders';
import { layOutEpochs } from './epoch-lanes';

test('all logs lie on one scale, from the oldest byte to the farthest end', () => {
  const behind = aHistory({ brokerId: '2', maxOffset: '2000' });
  const shortened = aHistory({
    brokerId: '3',
    epochs: [{ epoch: 2, startOffset: '1000', endOffset: null }],
  });

  const picture = layOutEpochs([aHistory(), behind, shortened], null);

  expect([picture.startOffset, picture.endOffset]).toEqual(['0', '4000']);
  expect(picture.lanes.map((lane) => lane.bars?.map(({ left, width }) => [left, width]))).toEqual([
    [
      [0, 0.25],
      [0.25, 0.75],
    ],
    [
      [0, 0.25],
      [0.25, 0.25],
    ],
    [[0.25, 0.75]],
  ]);
});

test('offsets beyond the precision of a float keep their distances', () => {
  const start = 2n ** 62n;
  const log = aHistory({
    maxOffset: String(start + 4n),
    epochs: [
      { epoch: 8, startOffset: String(start), endOffset: String(start + 1n) },
      { epoch: 9, startOffset: String(start + 1n), endOffset: null },
    ],
  });

  const [lane] = layOutEpochs([log], null).lanes;

  expect(lane?.bars?.map((bar) => bar.width)).toEqual([0.25, 0.75]);
  expect(lane?.bars?.at(-1)).toMatchObject({ endOffset: String(start + 4n), isOpen: true });
});

test('the epoch in which logs part is marked in every lane', () => {
  const { lanes } = layOutEpochs([aHistory(), aHistory({ brokerId: '2' })], 2);

  expect(lanes.map((lane) => lane.bars?.map((bar) => bar.isDiffering))).toEqual([
    [false, true],
    [false, true],
  ]);
});

test('who did not answer has no bars, and an empty log none that count', () => {
  const silent = aHistory({ epochs: null, maxOffset: null, error: 'no answer within 2 s' });
  const empty = aHistory({ brokerId: '2', epochs: [], maxOffset: '0' });

  const { lanes } = layOutEpochs([silent, empty], null);

  expect(lanes).toMatchObject([{ bars: null, error: 'no answer within 2 s' }, { bars: [] }]);
});
