import { queryOptions } from '@tanstack/react-query';
import {
  LeasesDocument,
  type LockHolder,
  LocksDocument,
  OperationLeasesDocument,
  QueueExplanationsDocument,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type LockChoice = {
  clusterName: string;
  consumerGroupName: string | undefined;
  topic: string | undefined;
  clientId: string | undefined;
  holder: LockHolder | undefined;
};

export type QueueChoice = {
  consumerGroupName: string;
  topicName: string;
  brokerGroupName: string | undefined;
  queueId: number | undefined;
};

export const lockKeys = {
  of: (clusterName: string) => [clusterScope, 'locks', clusterName] as const,
  list: (chosen: LockChoice, after: string | undefined) =>
    [...lockKeys.of(chosen.clusterName), chosen, after] as const,
  leasesOf: (clusterName: string) => [clusterScope, 'leases', clusterName] as const,
  leases: (clusterName: string, after: string | undefined) =>
    [...lockKeys.leasesOf(clusterName), after] as const,
  operationLeases: (clusterName: string) =>
    [clusterScope, 'operation-leases', clusterName] as const,
  why: (clusterName: string, queue: QueueChoice) =>
    [clusterScope, 'queue-explanations', clusterName, queue] as const,
};

export const lockPageSize = 50;
/** Locks live in the memory of brokers, and each list asks all of them. */
export const locksIntervalMs = 10_000;

/** A lock comes and goes with consumers; what ends brokers, or locks by an order, is an event. */
function heedingLocks(clusterName: string) {
  return heeding(['step', 'broker', 'group'], {
    clusterName,
    when: ({ kind }) => !kind.startsWith('step.') || kind === 'step.done',
  });
}

export function locksOf(chosen: LockChoice, after: string | undefined) {
  return queryOptions({
    queryKey: lockKeys.list(chosen, after),
    queryFn: ({ signal }) => {
      const { consumerGroupName = null, topic = null, clientId = null, holder = null } = chosen;
      const filter = {
        clusterName: chosen.clusterName,
        consumerGroupName,
        topic,
        clientId,
        holder,
      };
      return ask(
        LocksDocument,
        { chosen: filter, first: lockPageSize, after: after ?? null },
        signal,
      );
    },
    placeholderData: keepWithin(lockKeys.of(chosen.clusterName)),
    refetchInterval: locksIntervalMs,
    meta: heedingLocks(chosen.clusterName),
  });
}

export function leasesOf(clusterName: string, after: string | undefined) {
  return queryOptions({
    queryKey: lockKeys.leases(clusterName, after),
    queryFn: ({ signal }) =>
      ask(LeasesDocument, { clusterName, first: lockPageSize, after: after ?? null }, signal),
    placeholderData: keepWithin(lockKeys.leasesOf(clusterName)),
    // A lease is renewed by each heartbeat.
    refetchInterval: sampleIntervalMs,
    meta: heeding(['group', 'broker'], { clusterName }),
  });
}

export function operationLeasesOf(clusterName: string) {
  return queryOptions({
    queryKey: lockKeys.operationLeases(clusterName),
    queryFn: ({ signal }) =>
      ask(OperationLeasesDocument, { clusterName, first: lockPageSize }, signal),
    // A worker renews its own every second and a half.
    refetchInterval: sampleIntervalMs,
    meta: heeding(['operation'], { clusterName }),
  });
}

export function explanationsOf(clusterName: string, queue: QueueChoice) {
  const { consumerGroupName, topicName, brokerGroupName = null, queueId = null } = queue;
  return queryOptions({
    queryKey: lockKeys.why(clusterName, queue),
    queryFn: ({ signal }) =>
      ask(
        QueueExplanationsDocument,
        { clusterName, consumerGroupName, topicName, brokerGroupName, queueId },
        signal,
      ),
    refetchInterval: locksIntervalMs,
    meta: heedingLocks(clusterName),
  });
}
