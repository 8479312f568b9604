import { expect, test } from 'vitest';
import { type Heard, heeding, routesChanged } from './heeds';

function heard(change: Partial<Heard> = {}): Heard {
  return {
    kind: 'group.master_elected',
    clusterName: 'east',
    subject: 'broker-a',
    brokerGroupName: 'broker-a',
    operationId: null,
    details: {},
    ...change,
  };
}

test('a query heeds its families, in its cluster and in no other', () => {
  const { heeds } = heeding(['group'], { clusterName: 'east' });

  expect(heeds(heard())).toBe(true);
  expect(heeds(heard({ clusterName: 'west' }))).toBe(false);
  expect(heeds(heard({ kind: 'broker.lost' }))).toBe(false);
});

test('without a cluster all clusters are meant, and of what was missed any may be', () => {
  expect(heeding(['route']).heeds(routesChanged('west'))).toBe(true);
  expect(heeding(['route'], { clusterName: 'east' }).heeds(routesChanged(null))).toBe(true);
});

test('a closer condition narrows the families', () => {
  const { heeds } = heeding(['group'], { when: ({ subject }) => subject === 'broker-a' });

  expect(heeds(heard())).toBe(true);
  expect(heeds(heard({ subject: 'broker-b' }))).toBe(false);
});
