/** Names one broker across clusters; group names repeat between clusters (D2). */
export type BrokerIdentity = { clusterName: string; groupName: string; brokerId: string };

export function brokerKey({ clusterName, groupName, brokerId }: BrokerIdentity): string {
  return `${clusterName}/${groupName}/${brokerId}`;
}

/** Only a master takes messages in; what its replicas take in are the same ones, copied. */
export function isMaster({ brokerId }: Pick<BrokerIdentity, 'brokerId'>): boolean {
  return brokerId === '0';
}
