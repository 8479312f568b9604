import { queryOptions } from '@tanstack/react-query';
import {
  AdoptionCandidatesDocument,
  DesignatedElectionDocument,
  GroupChangesDocument,
  GroupEpochsDocument,
  GroupObstaclesDocument,
  ReplicaGroupDocument,
  ReplicaGroupsDocument,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand, take } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';

export type GroupFilter = { search: string | undefined; after: string | undefined };
export type GroupKey = { clusterName: string; brokerGroupName: string };

export const replicaGroupKeys = {
  of: (clusterName: string) => [clusterScope, 'replica-groups', clusterName] as const,
  list: (clusterName: string, filter: GroupFilter) =>
    [...replicaGroupKeys.of(clusterName), filter] as const,
  one: (group: GroupKey) => [clusterScope, 'replica-group', group] as const,
  election: (group: GroupKey, brokerId: string) =>
    [clusterScope, 'replica-group', group, 'election', brokerId] as const,
  history: (group: GroupKey) => [clusterScope, 'replica-group', group, 'changes'] as const,
  changes: (group: GroupKey, after: string | undefined) =>
    [...replicaGroupKeys.history(group), after] as const,
  candidates: [clusterScope, 'adoption-candidates'] as const,
  obstacles: (group: GroupKey) => [clusterScope, 'replica-group', group, 'obstacles'] as const,
  epochs: (group: GroupKey) => [clusterScope, 'replica-group', group, 'epochs'] as const,
};

export const groupPageSize = 50;
export const changePageSize = 20;
/** A failover takes seconds, so the page of one group asks more often once the stream is cut. */
const groupIntervalMs = 2_000;
/** The brokers themselves are asked, so not more often than a reader needs it. */
const epochsIntervalMs = 10_000;

/** Heeds the events of one group: its elections, its SyncStateSet, its brokers. */
function heedingGroup({ clusterName, brokerGroupName }: GroupKey) {
  return heeding(['group', 'broker'], {
    clusterName,
    when: (heard) => heard.brokerGroupName === brokerGroupName,
  });
}

export function replicaGroupsOf(clusterName: string, filter: GroupFilter) {
  return queryOptions({
    queryKey: replicaGroupKeys.list(clusterName, filter),
    queryFn: ({ signal }) =>
      ask(
        ReplicaGroupsDocument,
        {
          clusterName,
          first: groupPageSize,
          after: filter.after ?? null,
          search: filter.search ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(replicaGroupKeys.of(clusterName)),
    // Heartbeats, not the stream, report how far each log reaches.
    refetchInterval: sampleIntervalMs,
    meta: heeding(['group', 'broker'], { clusterName }),
  });
}

const groupPath = 'cluster.replicaGroup';

export function replicaGroupOf(group: GroupKey) {
  return queryOptions({
    queryKey: replicaGroupKeys.one(group),
    queryFn: async ({ signal }) => {
      const answer = await ask(ReplicaGroupDocument, group, signal);
      return demand(
        take(answer, 'group', groupPath, ({ cluster }) => cluster?.replicaGroup),
        'group',
      );
    },
    refetchInterval: paced(groupIntervalMs, sampleIntervalMs),
    meta: heedingGroup(group),
  });
}

/** What would come of electing one replica by name. */
export function designatedElectionOf(group: GroupKey, brokerId: string) {
  return queryOptions({
    queryKey: replicaGroupKeys.election(group, brokerId),
    queryFn: async ({ signal }) => {
      const answer = await ask(DesignatedElectionDocument, { ...group, brokerId }, signal);
      const path = `${groupPath}.election`;
      return take(answer, 'election', path, ({ cluster }) => cluster?.replicaGroup?.election);
    },
    refetchInterval: paced(groupIntervalMs, sampleIntervalMs),
    meta: heedingGroup(group),
  });
}

export function groupChangesOf(group: GroupKey, after: string | undefined) {
  return queryOptions({
    queryKey: replicaGroupKeys.changes(group, after),
    queryFn: async ({ signal }) => {
      const variables = { ...group, first: changePageSize, after: after ?? null };
      const answer = await ask(GroupChangesDocument, variables, signal);
      const path = `${groupPath}.changes`;
      return take(answer, 'changes', path, ({ cluster }) => cluster?.replicaGroup?.changes);
    },
    placeholderData: keepWithin(replicaGroupKeys.history(group)),
    refetchInterval: paced(sampleIntervalMs),
    meta: heedingGroup(group),
  });
}

const candidateCountMax = 200;

export const adoptionCandidates = queryOptions({
  queryKey: replicaGroupKeys.candidates,
  queryFn: ({ signal }) => ask(AdoptionCandidatesDocument, { first: candidateCountMax }, signal),
  // A broker that knocks is no event yet.
  refetchInterval: sampleIntervalMs,
  meta: heeding(['group', 'broker']),
});

export function groupEpochsOf(group: GroupKey) {
  return queryOptions({
    queryKey: replicaGroupKeys.epochs(group),
    queryFn: async ({ signal }) => {
      const answer = await ask(GroupEpochsDocument, group, signal);
      const path = `${groupPath}.epochs`;
      return take(answer, 'epochs', path, ({ cluster }) => cluster?.replicaGroup?.epochs);
    },
    refetchInterval: paced(epochsIntervalMs),
    meta: heedingGroup(group),
  });
}

/** What keeps replicas from following, as they say themselves. */
export function groupObstaclesOf(group: GroupKey) {
  return queryOptions({
    queryKey: replicaGroupKeys.obstacles(group),
    queryFn: async ({ signal }) => {
      const answer = await ask(GroupObstaclesDocument, group, signal);
      const path = `${groupPath}.lag`;
      return take(answer, 'lag', path, ({ cluster }) => cluster?.replicaGroup?.lag);
    },
    refetchInterval: paced(epochsIntervalMs),
    meta: heedingGroup(group),
  });
}
