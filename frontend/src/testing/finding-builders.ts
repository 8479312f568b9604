import type { Finding } from '@/features/findings/finding';
import type { FindingsQuery, OpenFindingsQuery } from '@/gql/operations';

/** Valid by default; a test states only what it is about. */
export function aFinding(change: Partial<Finding> = {}): Finding {
  return {
    id: '7',
    code: 'ROUTE_WITHOUT_BROKER',
    severity: 'WARNING',
    title: 'Topics are placed in a group of which no broker is online',
    clusterName: 'regent',
    subject: 'broker-b',
    brokerGroupName: 'broker-b',
    topicName: null,
    sentence: null,
    evidence: { topics: 12 },
    advice: 'Start a broker of the group, or forget it: `regent broker forget broker-b`.',
    since: '2026-11-22T09:59:58Z',
    openedAt: '2026-11-22T10:00:00Z',
    closedAt: null,
    ...change,
  };
}

export function findingPage(nodes: Finding[]): FindingsQuery {
  return {
    findings: {
      nodes,
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
    },
  };
}

export function openFindingsOf(...severities: Finding['severity'][]): OpenFindingsQuery {
  const nodes = severities.map((severity) => ({ severity }));
  return { findings: { nodes, totalCount: nodes.length } };
}
