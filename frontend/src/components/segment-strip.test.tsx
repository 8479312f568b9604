import { render, screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { SegmentStrip } from './segment-strip';
import { type LogicalQueue, type Segment, segmentBoxes } from './segments';

function segment(values: Partial<Segment>): Segment {
  return {
    generation: 0,
    brokerGroupName: 'broker-a',
    queueId: 0,
    status: 'NORMAL',
    logicalStart: '0',
    logicalEnd: null,
    physicalStart: '0',
    physicalEnd: null,
    ...values,
  };
}

function queue(segments: Segment[], values: Partial<LogicalQueue> = {}): LogicalQueue {
  return {
    globalId: 3,
    leaderName: 'broker-b',
    sealed: false,
    maxOffset: null,
    segments,
    ...values,
  };
}

const moved = [
  segment({ status: 'READ_ONLY', logicalEnd: '1000', physicalStart: '7', physicalEnd: '1007' }),
  segment({ generation: 1, brokerGroupName: 'broker-b', queueId: 5, logicalStart: '1000' }),
];

function show(...queues: LogicalQueue[]) {
  render(<SegmentStrip label="Segments of orders" queues={queues} />);
  return screen.getByRole('region', { name: 'Segments of orders' });
}

test('a lane shows where each segment is stored, its offsets and its state', () => {
  show(queue(moved, { maxOffset: '1500' }));

  const lane = screen.getByRole('list', { name: 'Logical queue 3' });
  const [first, last] = within(lane).getAllByRole('listitem');
  expect(screen.getByText('led by broker-b')).toBeVisible();
  expect(first).toHaveTextContent('broker-a, physical queue 0');
  expect(first).toHaveTextContent('0 to 1,000');
  expect(first).toHaveTextContent('generation 0 · physical offsets 7 to 1,007');
  expect(first).toHaveTextContent('read only');
  expect(last).toHaveTextContent('broker-b, physical queue 5');
  expect(last).toHaveTextContent('1,000 to 1,500');
  expect(last).toHaveTextContent('physical offsets 0 to open');
  expect(last).toHaveTextContent('takes messages');
});

test('the last segment of a sealed queue takes no messages', () => {
  show(queue(moved, { sealed: true }));

  expect(screen.getByText('sealed')).toBeVisible();
  expect(screen.queryByText('takes messages')).toBeNull();
  expect(screen.getByText('read only')).toBeVisible();
});

test('an expired segment and one that is not decided are named', () => {
  const expired = segment({ status: 'EXPIRED', logicalEnd: '9' });
  const open = segment({ generation: 1, status: 'UNDECIDED', logicalStart: null });

  show(queue([expired, open], { leaderName: null }));

  expect(screen.getByText('expired')).toBeVisible();
  expect(screen.getByText('offsets not decided')).toBeVisible();
  expect(screen.getByText('no leader')).toBeVisible();
});

test('shares follow the number of slots, with all 64 bits', () => {
  const far = '9223372036854775807';
  const boxes = segmentBoxes(queue(moved, { maxOffset: '1250' }));
  const [small, large] = segmentBoxes(queue(moved, { maxOffset: far }));

  expect(boxes.map(({ share }) => share)).toEqual([0.8, 0.2]);
  expect([small?.share, large?.share]).toEqual([0, 0.999999]);
  expect(large?.end).toBe(far);
});

test('segments whose ends are unknown share a lane equally', () => {
  const open = segment({ generation: 1, logicalStart: '5' });

  const boxes = segmentBoxes(queue([segment({ status: 'READ_ONLY' }), open]));

  expect(boxes.map(({ share, end }) => [share, end])).toEqual([
    [0.5, null],
    [0.5, null],
  ]);
});

test('the strip can be used without a mouse and by a screen reader', async () => {
  const region = show(queue(moved), queue(moved, { globalId: 4, sealed: true }));

  region.focus();

  expect(region).toHaveFocus();
  expect(await violations(region)).toEqual([]);
});
