import type { BrokerConfigQuery, BrokerPageQuery } from '@/gql/operations';

export type Property = BrokerConfigQuery['brokerConfig']['properties'][number];
export type Broker = NonNullable<BrokerPageQuery['broker']>;

const writableBit = 2;

/** Whether a broker's setting keeps producers from writing; undefined where it is not reported. */
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
