import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { aSample } from '@/testing/builders';
import { type LatestSamples, recordSamples, sampleKeys } from './sample-cache';

test('a late sample never replaces a newer one', () => {
  const client = new QueryClient();
  const newer = aSample({ observedAt: '2026-03-01T12:00:05Z', messagesInPerSecond: 2 });
  const older = aSample({ observedAt: '2026-03-01T12:00:00Z', messagesInPerSecond: 1 });

  recordSamples(client, [newer]);
  recordSamples(client, [older]);

  const latest = client.getQueryData<LatestSamples>(sampleKeys.latest);
  expect(latest?.['regent/broker-a-0']?.messagesInPerSecond).toBe(2);
});

test('brokers of one name in two clusters are kept apart', () => {
  const client = new QueryClient();

  recordSamples(client, [aSample(), aSample({ clusterName: 'other' })]);

  const latest = client.getQueryData<LatestSamples>(sampleKeys.latest) ?? {};
  expect(Object.keys(latest)).toEqual(['regent/broker-a-0', 'other/broker-a-0']);
});
