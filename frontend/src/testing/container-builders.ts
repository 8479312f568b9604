import type { ContainerFieldsFragment, ContainersQuery } from '@/gql/operations';
import type { Answers } from './control-plane';

/** A container with a running broker, and a file that names none. */
export function aContainer(change: Partial<ContainerFieldsFragment> = {}): ContainerFieldsFragment {
  return {
    address: '127.0.0.1:10811',
    whyUnknown: null,
    brokers: [
      {
        clusterName: 'regent',
        brokerGroupName: 'broker-a',
        name: 'broker-a-2',
        ownId: '2',
        isMaster: false,
        path: '/etc/a.conf',
        failure: null,
      },
      {
        clusterName: '',
        brokerGroupName: '',
        name: null,
        ownId: null,
        isMaster: false,
        path: '/etc/b.conf',
        failure: 'listenPort=many: must be a whole number',
      },
    ],
    ...change,
  };
}

export function containersPage(
  nodes: ContainerFieldsFragment[],
  unknown: ContainersQuery['containers']['unknown'] = [],
): ContainersQuery {
  return {
    containers: {
      observedAt: new Date().toISOString(),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes,
      unknown,
    },
  };
}

export function containerAnswers(): Answers {
  return { Containers: () => containersPage([aContainer()]) };
}
