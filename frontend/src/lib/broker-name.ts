/** What a broker is called, whatever its role: its group and its own id, as in `broker-a-2`. */
export type BrokerNameParts = { brokerGroupName: string; ownId: string };

export function brokerNameOf({ brokerGroupName, ownId }: BrokerNameParts): string {
  return `${brokerGroupName}-${ownId}`;
}

/** Parts a name at its last hyphen: those before belong to the group. */
export function partsOf(brokerName: string): BrokerNameParts {
  const end = brokerName.lastIndexOf('-');
  return {
    brokerGroupName: brokerName.slice(0, Math.max(0, end)),
    ownId: brokerName.slice(end + 1),
  };
}
