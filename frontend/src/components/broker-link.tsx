import { Link } from '@tanstack/react-router';

type BrokerLinkProps = {
  name: string;
  /** The cluster of the broker; without it, the cluster of the page. */
  clusterName?: string;
};

/** Leads to the page of a broker, which has one name in all its roles. */
export function BrokerLink({ name, clusterName }: BrokerLinkProps) {
  return (
    <Link
      to="/brokers/$brokerName"
      params={{ brokerName: name }}
      search={(previous) => {
        const cluster = clusterName ?? previous.cluster;
        return cluster ? { cluster } : {};
      }}
    >
      {name}
    </Link>
  );
}
