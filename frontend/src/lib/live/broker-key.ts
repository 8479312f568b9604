/** Names one broker across clusters; names repeat between clusters (D2). */
export type BrokerIdentity = { clusterName: string; brokerName: string };

export function brokerKey({ clusterName, brokerName }: BrokerIdentity): string {
  return `${clusterName}/${brokerName}`;
}

/** Only a master takes messages in; what its replicas take in are the same ones, copied. */
export function isMaster({ brokerId }: { brokerId: string }): boolean {
  return brokerId === '0';
}
