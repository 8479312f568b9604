import type { ClientConnection } from '@/features/clients/client';
import type { ClientFieldsFragment, ClientsQuery } from '@/gql/operations';

/** Valid by default; a test states only what it is about. */
export function aConnection(change: Partial<ClientConnection> = {}): ClientConnection {
  return {
    brokerName: 'broker-a-0',
    brokerAddress: '10.0.0.1:10911',
    address: '10.0.0.7:50000',
    language: 'JAVA',
    version: 513,
    versionName: '5.5.0',
    heardMs: '4000',
    producerGroups: [],
    consumerGroups: ['billing'],
    ...change,
  };
}

export function aClient(change: Partial<ClientFieldsFragment> = {}): ClientFieldsFragment {
  return {
    clientId: '10.0.0.7@412',
    roles: ['CONSUMER'],
    producerGroups: [],
    consumerGroups: ['billing'],
    heardMs: '4000',
    connections: [aConnection()],
    ...change,
  };
}

export function clientPage(
  nodes: ClientFieldsFragment[],
  unknown: ClientsQuery['clients']['unknown'] = [],
): ClientsQuery {
  return {
    clients: {
      nodes,
      unknown,
      totalCount: nodes.length,
      observedAt: '2026-11-22T10:00:00Z',
      pageInfo: { hasNextPage: false, endCursor: null },
    },
  };
}
