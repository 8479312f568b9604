import type { TransactionFieldsFragment, TransactionsQuery } from '@/gql/operations';
import type { Answers } from './control-plane';

/** A transaction whose producers are gone. */
export function aTransaction(
  change: Partial<TransactionFieldsFragment> = {},
): TransactionFieldsFragment {
  return {
    clusterName: 'regent',
    brokerGroupName: 'broker-a',
    brokerAddress: '127.0.0.1:10911',
    transactionId: '7F0001A1',
    producerGroupName: 'payments',
    topic: 'orders',
    queueId: 3,
    ageMs: '120000',
    checkCount: 4,
    producerCount: 0,
    messageId: '7F00000100002A9F0000000000000000',
    ...change,
  };
}

export function transactionPage(
  nodes: TransactionFieldsFragment[],
  unknown: TransactionsQuery['transactions']['unknown'] = [],
): TransactionsQuery {
  return {
    transactions: {
      observedAt: new Date().toISOString(),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes,
      unknown,
    },
  };
}

export function transactionAnswers(): Answers {
  return { Transactions: () => transactionPage([aTransaction()]) };
}
