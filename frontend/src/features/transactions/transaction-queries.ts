import { queryOptions } from '@tanstack/react-query';
import { type TransactionFieldsFragment, TransactionsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type Transaction = TransactionFieldsFragment;

export type TransactionChoice = {
  clusterName: string;
  producerGroupName: string | undefined;
  topic: string | undefined;
};

export const transactionPageSize = 50;
/** Pending transactions live in brokers, and each list asks all masters. */
export const transactionsIntervalMs = 10_000;

const keys = {
  of: (clusterName: string) => [clusterScope, 'transactions', clusterName] as const,
};

export function transactionId(one: Transaction): string {
  return [one.brokerAddress, one.messageId, one.transactionId].join(' ');
}

export function transactionsOf(chosen: TransactionChoice, after: string | undefined) {
  const { clusterName, producerGroupName = null, topic = null } = chosen;
  return queryOptions({
    queryKey: [...keys.of(clusterName), chosen, after],
    queryFn: ({ signal }) =>
      ask(
        TransactionsDocument,
        {
          chosen: { clusterName, producerGroupName, topic },
          first: transactionPageSize,
          after: after ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(keys.of(clusterName)),
    refetchInterval: transactionsIntervalMs,
    meta: heeding(['step', 'broker'], {
      clusterName,
      when: ({ kind }) => !kind.startsWith('step.') || kind === 'step.done',
    }),
  });
}
