import type { AuditVerificationQuery } from '@/gql/operations';

export type Verification = AuditVerificationQuery['auditVerification'];

/** Adds a further part of the chain to what was followed of it before. */
export function joinParts(so: Verification | undefined, part: Verification): Verification {
  return { ...part, checkedCount: (so?.checkedCount ?? 0) + part.checkedCount };
}
