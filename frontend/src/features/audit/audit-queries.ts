import { queryOptions } from '@tanstack/react-query';
import { AuditEntriesDocument, AuditVerificationDocument } from '@/gql/operations';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { joinParts, type Verification } from './verification';

export type AuditFilter = {
  clusterName: string | undefined;
  actor: string | undefined;
  operationId: string | undefined;
};

export const auditKeys = {
  of: (clusterName: string | undefined) => ['audit', clusterName] as const,
  list: (filter: AuditFilter, after: string | undefined) =>
    [...auditKeys.of(filter.clusterName), filter, after] as const,
};

export const auditPageSize = 50;

export function auditOf(filter: AuditFilter, after: string | undefined) {
  return queryOptions({
    queryKey: auditKeys.list(filter, after),
    queryFn: ({ signal }) =>
      ask(
        AuditEntriesDocument,
        {
          first: auditPageSize,
          after: after ?? null,
          clusterName: filter.clusterName ?? null,
          actor: filter.actor ?? null,
          operationId: filter.operationId ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(auditKeys.of(filter.clusterName)),
    // Who changed access is no event of a cluster, so it is looked for now and then.
    refetchInterval: paced(sampleIntervalMs, 3 * sampleIntervalMs),
    meta: heeding(['operation', 'step', 'group'], { clusterName: filter.clusterName }),
  });
}

/** The path of a file with all entries that the filter lets pass. */
export function exportPath(filter: AuditFilter): string {
  const given = new URLSearchParams();
  if (filter.clusterName) given.set('cluster_name', filter.clusterName);
  if (filter.actor) given.set('actor', filter.actor);
  if (filter.operationId) given.set('operation_id', filter.operationId);
  const query = given.toString();
  return `/api/v1/audit/export${query ? `?${query}` : ''}`;
}

/** Follows the chain from its beginning to its end, part by part, and reports how far it is. */
export async function verifyChain(onPart: (so: Verification) => void): Promise<Verification> {
  let so: Verification | undefined;
  do {
    const answer = await ask(AuditVerificationDocument, {
      afterNumber: so?.endNumber ?? null,
      afterHash: so?.endHash ?? null,
    });
    so = joinParts(so, answer.data.auditVerification);
    onPart(so);
  } while (!so.isComplete);
  return so;
}
