import { expect, test } from 'vitest';
import { aConsumerGroup, aConsumerQueue } from '@/testing/consumer-group-builders';
import { compareCounts, lagShares, topicsOf } from './consumer-group';

test('bars compare lags, and an unknown one has none', () => {
  const queues = [
    aConsumerQueue({ queueId: 0, lag: '50' }),
    aConsumerQueue({ queueId: 1, lag: '200' }),
    aConsumerQueue({ queueId: 2, lag: null }),
  ];

  expect([...lagShares(queues).values()]).toEqual([0.25, 1]);
  expect(lagShares([aConsumerQueue({ lag: '0' })]).size).toBe(0);
});

test('offsets can be reset in the topics that are read, not among the retries', () => {
  const group = aConsumerGroup({
    queues: [
      aConsumerQueue({ topic: 'orders' }),
      aConsumerQueue({ topic: 'orders', queueId: 1 }),
      aConsumerQueue({ topic: '%RETRY%billing', kind: 'RETRY' }),
    ],
  });

  expect(topicsOf(group)).toEqual(['orders']);
});

test('counts beyond what a float holds are ordered, unknown ones last', () => {
  const counts = ['9007199254740993', null, '9007199254740992', '7'];

  expect(counts.sort(compareCounts)).toEqual(['7', '9007199254740992', '9007199254740993', null]);
});
