import type {
  ElectionFieldsFragment,
  ReplicaFieldsFragment,
  ReplicaGroupFieldsFragment,
} from '@/gql/operations';
import { notCollected, type Reading, unknown, value } from '@/lib/reading';

export type ReplicaGroup = ReplicaGroupFieldsFragment;
export type Replica = ReplicaFieldsFragment;
export type Election = ElectionFieldsFragment;

export type MasterState = 'leads' | 'lost' | 'none';

export function masterState(group: ReplicaGroup): MasterState {
  if (group.masterId === null) return 'none';
  return group.isMasterAlive ? 'leads' : 'lost';
}

export function findMaster(group: ReplicaGroup): Replica | undefined {
  return group.replicas.find((replica) => replica.isMaster);
}

/** Members of the SyncStateSet that are not heard: they are members, but keep nothing in sync. */
export function deadMembers(group: ReplicaGroup): string[] {
  const alive = group.replicas.filter((one) => one.isAlive).map((one) => one.brokerId);
  return group.syncStateSet.filter((id) => !alive.includes(id));
}

/** The end of a replica's log by its last report; undefined where it was never heard. */
function endOf(replica: Replica): string | null | undefined {
  return replica.lastHeartbeatAt === null ? undefined : replica.maxOffset;
}

/**
 * By how many bytes a log ends before the master's. The two ends were reported at different times,
 * so a replica may seem to be ahead; it is not behind then.
 */
export function gapOf(replica: Replica, group: ReplicaGroup): Reading {
  const end = endOf(replica);
  if (end === undefined) return notCollected;
  const master = findMaster(group);
  const masterEnd = master && endOf(master);
  if (end === null || masterEnd === null || masterEnd === undefined) return unknown;
  return value(Math.max(0, Number(BigInt(masterEnd) - BigInt(end))));
}

/**
 * By how many bytes a log ends beyond the master's; undefined where it does not. Undefined also
 * where the replica was heard after its master: the master's log may have grown since its report.
 */
export function aheadOf(replica: Replica, group: ReplicaGroup): number | undefined {
  const master = findMaster(group);
  if (!replica.lastHeartbeatAt || !master?.lastHeartbeatAt) return undefined;
  if (replica.maxOffset === null || master.maxOffset === null) return undefined;
  if (Date.parse(replica.lastHeartbeatAt) > Date.parse(master.lastHeartbeatAt)) return undefined;
  const bytes = Number(BigInt(replica.maxOffset) - BigInt(master.maxOffset));
  return bytes > 0 ? bytes : undefined;
}

/** The largest gap that is known, or why none is. */
export function largestGap(group: ReplicaGroup): Reading {
  const gaps = group.replicas.filter((replica) => !replica.isMaster).map((r) => gapOf(r, group));
  const known = gaps.flatMap((gap) => (gap.kind === 'value' ? [gap.value] : []));
  if (known.length > 0) return value(Math.max(...known));
  return gaps.find((gap) => gap.kind === 'unknown') ?? gaps[0] ?? value(0);
}

export type Outcome = {
  kind: 'stays' | 'wins' | 'waits' | 'unclean' | 'none';
  /** Who is or would be master. */
  winnerId: string | null;
};

/** What would come of an election now, by the rules or of one's choice. */
export function outcomeOf(election: Election, group: ReplicaGroup): Outcome {
  const { winnerId } = election;
  if (winnerId === null) return { kind: 'none', winnerId };
  if (election.isUnchanged) return { kind: 'stays', winnerId };
  const isOutside = group.masterEpoch > 0 && !group.syncStateSet.includes(winnerId);
  if (isOutside) return { kind: 'unclean', winnerId };
  return { kind: election.awaitsLeaseMs === '0' ? 'wins' : 'waits', winnerId };
}

export function reasonsOf(election: Election): string {
  return election.candidates.map(({ brokerId, reason }) => `${brokerId} ${reason}`).join('; ');
}
