import { expect, test } from 'vitest';
import { notCollected, unknown, value } from '@/lib/reading';
import { aGroup, anElection, aReplica } from '@/testing/group-builders';
import {
  aheadOf,
  deadMembers,
  gapOf,
  largestGap,
  masterState,
  outcomeOf,
  reasonsOf,
} from './replica-group';

function groupOf(...ends: (string | null)[]) {
  const replicas = ends.map((maxOffset, index) =>
    aReplica({ brokerId: String(index + 1), maxOffset }),
  );
  return aGroup({ replicas });
}

test('gaps are exact beyond the precision of a float', () => {
  const group = groupOf('9223372036854775807', '9223372036854775800');

  expect(largestGap(group)).toEqual(value(7));
});

test('a replica heard after its master is not behind by less than nothing', () => {
  expect(largestGap(groupOf('1000', '1200'))).toEqual(value(0));
});

test('a replica is ahead where it reported no later than its master, and ends beyond it', () => {
  // Case B6.
  const at = (seconds: number) => new Date(1_767_225_600_000 + seconds * 1000).toISOString();
  const master = aReplica({ brokerId: '1', maxOffset: '1000', lastHeartbeatAt: at(5) });
  const other = (maxOffset: string | null, seconds: number) =>
    aReplica({ brokerId: '2', maxOffset, lastHeartbeatAt: at(seconds) });
  const ahead = (maxOffset: string | null, seconds: number) => {
    const replica = other(maxOffset, seconds);
    return aheadOf(replica, aGroup({ replicas: [master, replica] }));
  };

  expect(ahead('1200', 4)).toBe(200);
  expect(ahead('1200', 6)).toBeUndefined();
  expect(ahead('1000', 4)).toBeUndefined();
  expect(ahead(null, 4)).toBeUndefined();
});

test('an unknown gap is not zero', () => {
  const group = groupOf('1000', null, '400');
  const silent = aReplica({ brokerId: '4', lastHeartbeatAt: null, maxOffset: null });

  expect(group.replicas.map((replica) => gapOf(replica, group))).toEqual([
    value(0),
    unknown,
    value(600),
  ]);
  expect(gapOf(silent, group)).toEqual(notCollected);
  expect(largestGap(group)).toEqual(value(600));
  expect(largestGap(groupOf('1000', null))).toEqual(unknown);
  expect(largestGap(aGroup({ replicas: group.replicas.slice(1), masterId: null }))).toEqual(
    unknown,
  );
});

test('a recorded master that is dead or was lost does not lead', () => {
  expect(masterState(aGroup())).toBe('leads');
  expect(masterState(aGroup({ isMasterAlive: false }))).toBe('lost');
  expect(masterState(aGroup({ isMasterAlive: false, masterId: null }))).toBe('none');
});

test('a member of the set without heartbeats is dead, and one outside it is not missed', () => {
  const replicas = ['1', '2', '3'].map((brokerId) =>
    aReplica({ brokerId, isAlive: brokerId === '1' }),
  );

  expect(deadMembers(aGroup({ replicas, syncStateSet: ['1', '2'] }))).toEqual(['2']);
  expect(deadMembers(aGroup())).toEqual([]);
});

test('the outcomes of an election are distinguished', () => {
  const wins = anElection([['2', 'WINS', 'would become master']]);

  expect(outcomeOf(anElection(), aGroup()).kind).toBe('stays');
  expect(outcomeOf(wins, aGroup())).toEqual({ kind: 'wins', winnerId: '2' });
  expect(outcomeOf({ ...wins, awaitsLeaseMs: '3000' }, aGroup()).kind).toBe('waits');
  expect(outcomeOf(wins, aGroup({ syncStateSet: ['1'] })).kind).toBe('unclean');
  expect(outcomeOf(wins, aGroup({ syncStateSet: [], masterEpoch: 0 })).kind).toBe('wins');
  expect(outcomeOf(anElection([['1', 'NOT_ALIVE', 'is not alive']]), aGroup()).kind).toBe('none');
});

test('reasons name their replicas', () => {
  const election = anElection([
    ['1', 'NOT_ALIVE', 'is not alive'],
    ['2', 'NOT_IN_SYNC', 'is outside'],
  ]);

  expect(reasonsOf(election)).toBe('1 is not alive; 2 is outside');
});
