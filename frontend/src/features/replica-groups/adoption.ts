import type { AdoptionCandidateFieldsFragment } from '@/gql/operations';

export type Candidate = AdoptionCandidateFieldsFragment;

/** The brokers of one group that the control plane does not know any more. */
export type LostGroup = { clusterName: string; brokerGroupName: string; candidates: Candidate[] };

/** Files candidates by the group that they claim to be of, in the order in which they come. */
export function lostGroups(candidates: Candidate[]): LostGroup[] {
  const groups = new Map<string, LostGroup>();
  for (const candidate of candidates) {
    const { clusterName, brokerGroupName } = candidate;
    const key = `${clusterName}/${brokerGroupName}`;
    const group = groups.get(key) ?? { clusterName, brokerGroupName, candidates: [] };
    group.candidates.push(candidate);
    groups.set(key, group);
  }
  return [...groups.values()];
}
