import type { OpenSessionsQuery, TokenFieldsFragment, UserFieldsFragment } from '@/gql/operations';
import type { Answers } from './control-plane';

export function aUser(change: Partial<UserFieldsFragment> = {}): UserFieldsFragment {
  return {
    name: 'bela',
    role: 'VIEWER',
    clusterPatterns: ['*'],
    createdAt: '2026-03-01T12:00:00Z',
    disabledAt: null,
    passwordExpiresAt: null,
    version: 'v1',
    ...change,
  };
}

export function aToken(change: Partial<TokenFieldsFragment> = {}): TokenFieldsFragment {
  return {
    id: 'k1',
    userName: 'admin',
    name: 'deploy',
    prefix: 'rgt_abcdefgh',
    role: 'OPERATOR',
    isReadOnly: false,
    clusterPatterns: ['*'],
    createdAt: '2026-03-01T12:00:00Z',
    expiresAt: '2026-04-01T12:00:00Z',
    lastUsedAt: null,
    lastUsedFrom: null,
    ...change,
  };
}

function aSession(): OpenSessionsQuery['sessions']['nodes'][number] {
  return {
    id: 's1',
    userName: 'admin',
    source: '10.0.0.9',
    userAgent: 'a browser',
    createdAt: '2026-03-01T12:00:00Z',
    lastUsedAt: new Date().toISOString(),
    expiresAt: '2026-03-01T22:00:00Z',
    isOwn: true,
  };
}

export function page<T>(nodes: T[]) {
  return { totalCount: nodes.length, pageInfo: { hasNextPage: false, endCursor: null }, nodes };
}

export function accessAnswers(): Answers {
  return {
    Users: () => ({ users: page([aUser()]) }),
    OpenSessions: () => ({ sessions: page([aSession()]) }),
    ApiTokens: () => ({ apiTokens: page([aToken()]) }),
    CreateApiToken: () => ({ created: { secret: 'rgt_secret', token: aToken() } }),
  };
}
