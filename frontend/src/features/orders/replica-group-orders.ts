import { type Field, textIn } from './field';
import type { OrderKind } from './order-kind';

type ReplicaGroup = {
  clusterName: string;
  name: string;
  preferredId: string | null;
  replicas: readonly { brokerId: string }[];
};

/** Prefers a replica as master at the next election, or none any more. */
export function preferMaster(group: ReplicaGroup): OrderKind {
  const { clusterName, name: groupName, preferredId, replicas } = group;
  const field: Field = {
    name: 'brokerId',
    kind: 'choice',
    choices: replicas.map(({ brokerId }) => ({ value: brokerId, word: null })),
    initial: preferredId,
    none: 'replicaGroup.preferredNone',
  };
  return {
    word: 'preferMaster',
    target: groupName,
    fieldsOf: () => [field],
    planOf: (values) => ({
      preferMaster: { clusterName, groupName, brokerId: textIn(values, field.name) || null },
    }),
  };
}
