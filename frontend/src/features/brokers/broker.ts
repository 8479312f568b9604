import type { BrokerConfigQuery, BrokerPageQuery } from '@/gql/operations';
import { partsOf } from '@/lib/broker-name';

export type Property = BrokerConfigQuery['brokerConfig']['properties'][number];
type Cluster = NonNullable<BrokerPageQuery['cluster']>;
export type GroupBroker = NonNullable<Cluster['brokerGroup']>['brokers'][number];
export type ReplicaOf = NonNullable<Cluster['replicaGroup']>['replicas'][number];

/** A broker as its controller knows it. */
export function replicaOf(cluster: Cluster, { ownId }: GroupBroker): ReplicaOf | undefined {
  return cluster.replicaGroup?.replicas.find((replica) => replica.brokerId === ownId);
}

/** The broker of a name. An id of 0 that no broker has means the master, as in old addresses. */
export function brokerCalled(
  brokerName: string,
  brokers: readonly GroupBroker[],
): GroupBroker | undefined {
  const named = brokers.find(({ name }) => name === brokerName);
  if (named || partsOf(brokerName).ownId !== '0') return named;
  return brokers.find(({ role }) => role === 'MASTER');
}

const writableBit = 2;

/** Whether a broker lets producers write, by its own setting; undefined where it does not tell. */
export function isCordoned(properties: readonly Property[]): boolean | undefined {
  const permission = properties.find(({ name }) => name === 'brokerPermission');
  return permission && (Number(permission.value) & writableBit) === 0;
}

/** Whether the next start would take another value than the one in force. */
export function awaitsRestart({ value, stored }: Property): boolean {
  return stored !== null && stored !== value;
}

export function isDefault({ value, stored, default: standard }: Property): boolean {
  return standard !== null && value === standard && (stored === null || stored === standard);
}

export type PropertyChoice = { search: string | undefined; only: 'changed' | undefined };

export function chooseProperties(
  properties: readonly Property[],
  { search, only }: PropertyChoice,
): Property[] {
  const wanted = search?.toLowerCase();
  return properties.filter(
    (property) =>
      (wanted === undefined || property.name.toLowerCase().includes(wanted)) &&
      (only === undefined || !isDefault(property)),
  );
}
