import { Link } from '@tanstack/react-router';

/** Leads to the page of a broker, which has one name in all its roles. */
export function BrokerLink({ name }: { name: string }) {
  return (
    <Link
      to="/brokers/$brokerName"
      params={{ brokerName: name }}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {name}
    </Link>
  );
}
