import { vi } from 'vitest';
import { operationName } from '@/lib/graphql';
import { clusterAnswers } from './builders';

type Variables = Record<string, unknown>;
type Resolver = (variables: Variables) => unknown;
export type Answers = Record<string, Resolver>;

export type StubOptions = {
  signedIn?: boolean;
  password?: string;
  role?: string;
  refusals?: Record<string, string>;
  clusterLimits?: string[][];
  hasOneTimePassword?: boolean;
  answers?: Answers;
};

export type Call = { operation: string; variables: Variables };

/** A GraphQL answer that holds data and errors, or errors only. */
export class Raw {
  readonly body: unknown;
  readonly status: number;

  constructor(body: unknown, status = 200) {
    this.body = body;
    this.status = status;
  }
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', date: new Date().toUTCString() },
  });
}

/** Why a role lacks permissions, in the words of the control plane. */
function refusalsOf(role: string): Record<string, string> {
  if (role !== 'viewer') return {};
  const change = 'the role viewer may only read; it takes the role operator';
  return { change, read_bodies: 'the role viewer is not enough; it takes the role operator' };
}

function refusal(status: number, code: string): Response {
  return json({ status, code, detail: code, facts: null }, status);
}

/** Answers the console's requests from plain functions, one for each operation. */
export function stubControlPlane(options: StubOptions = {}): { calls: Call[] } {
  const answers = { ...clusterAnswers(), ...options.answers };
  const password = options.password ?? 'secret';
  const calls: Call[] = [];
  let signedIn = options.signedIn ?? true;
  let hasOneTimePassword = options.hasOneTimePassword ?? false;

  const session = (init: RequestInit): Response => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    if (init.method === 'POST') {
      const given = JSON.parse(String(init.body)) as { name: string; password: string };
      if (given.password !== password) return refusal(401, 'unauthenticated');
      signedIn = true;
    }
    if (init.method === 'DELETE') {
      signedIn = false;
      return new Response(null, { status: 204 });
    }
    if (!signedIn) return refusal(401, 'unauthenticated');
    const opened = { name: 'admin', role: options.role ?? 'admin', expires_at: expires };
    const limits = options.clusterLimits ?? [];
    const refusals = options.refusals ?? refusalsOf(opened.role);
    const may = { refusals, risk_max: opened.role === 'admin' ? 'R3' : 'R2' };
    const rest = { ...may, cluster_limits: limits, must_change_password: hasOneTimePassword };
    return json({ ...opened, ...rest });
  };

  const graphql = async (init: RequestInit): Promise<Response> => {
    if (!signedIn) return refusal(401, 'unauthenticated');
    const asked = JSON.parse(String(init.body)) as { query: string; variables: Variables };
    const operation = operationName(asked.query);
    calls.push({ operation, variables: asked.variables });
    const resolver = answers[operation];
    if (!resolver) throw new Error(`the stub has no answer to ${operation}`);
    const answer = await resolver(asked.variables);
    return answer instanceof Raw ? json(answer.body, answer.status) : json({ data: answer });
  };

  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    if (path === '/api/v1/session') return session(init);
    if (path === '/api/v1/session/password') {
      hasOneTimePassword = false;
      return json({ ended_count: 0 });
    }
    if (path === '/graphql') return graphql(init);
    throw new Error(`unexpected request to ${path}`);
  });
  return { calls };
}

export function graphqlError(
  code: string,
  message: string,
  data: unknown = null,
  facts: Record<string, unknown> = {},
): Raw {
  const extensions = { code, ...facts };
  return new Raw({ data, errors: [{ message, path: ['cluster'], extensions }] });
}
