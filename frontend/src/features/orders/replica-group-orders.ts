import type { Choice, Field } from './field';
import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

type ReplicaGroup = {
  clusterName: string;
  name: string;
  preferredId: string | null;
  replicas: readonly { brokerId: string; address: string; isAlive: boolean }[];
};

/** The brokers of a group that the control plane lost. */
type LostGroup = {
  clusterName: string;
  brokerGroupName: string;
  candidates: readonly { brokerId: string }[];
};

function replicaChoice(id: string): Choice {
  return { value: id, words: { key: 'designation.replica', values: { id } } };
}

function choicesOf({ replicas }: ReplicaGroup): Choice[] {
  return replicas.map(({ brokerId }) => replicaChoice(brokerId));
}

/** Elects a replica as master, or the one that the rules choose. */
export function electMaster(group: ReplicaGroup): OrderKind {
  const { clusterName, name: brokerGroupName } = group;
  return orderForm('electMaster', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
    known: {
      brokerId: { choices: choicesOf(group) },
      mode: { words: (value: string) => `electionMode.${value}` },
    },
  });
}

/** Prefers a replica as master at the next election, or none any more. */
export function preferMaster(group: ReplicaGroup): OrderKind {
  const { clusterName, name: brokerGroupName, preferredId } = group;
  const first = preferredId === null ? {} : { initial: preferredId };
  return orderForm('preferMaster', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
    known: { brokerId: { choices: choicesOf(group), ...first } },
  });
}

const scope: Field = {
  name: 'scope',
  kind: 'choice',
  choices: ['some', 'group'].map((value) => ({ value, words: { key: `forgetScope.${value}` } })),
  initial: 'some',
  absence: null,
};

/** Forgets some replicas, or all with their group. An order without an id means the group, so the form asks for the scope. */
export function forgetReplicas(group: ReplicaGroup): OrderKind {
  const { clusterName, name: brokerGroupName, replicas } = group;
  const choices = replicas.map(({ brokerId: id, address, isAlive }) => ({
    value: id,
    words: { key: isAlive ? 'forget.living' : 'forget.dead', values: { id, address } },
  }));
  return orderForm('forgetReplicas', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
    own: [scope],
    known: {
      brokerIds: { choices, onlyWith: { name: scope.name, value: 'some' } },
      includesLiving: { onlyWith: { name: scope.name, value: 'group' } },
    },
  });
}

/** Upgrades the brokers of a group one by one, the master last. */
export function upgradeGroup({ clusterName, name: brokerGroupName }: ReplicaGroup): OrderKind {
  return orderForm('upgradeBrokerGroup', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
  });
}

/** Lowers the protocol version of a group, so that an older release can join. */
export function lowerVersion({ clusterName, name: brokerGroupName }: ReplicaGroup): OrderKind {
  return orderForm('lowerProtocolVersion', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
  });
}

/** Adopts brokers whose group the control plane lost: all that wait, unless some are taken out. */
export function adoptReplicas({ clusterName, brokerGroupName, candidates }: LostGroup): OrderKind {
  const ids = candidates.map(({ brokerId }) => brokerId);
  const choices = ids.map(replicaChoice);
  return orderForm('adoptReplicas', {
    target: brokerGroupName,
    given: { clusterName, brokerGroupName },
    known: { brokerIds: { choices, initial: ids }, masterId: { choices } },
  });
}
