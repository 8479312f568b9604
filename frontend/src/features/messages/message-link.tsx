import { Link } from '@tanstack/react-router';

/** A message by its id, and the way to its page. */
export function MessageLink({ messageId }: { messageId: string }) {
  return (
    <Link
      to="/messages/$messageId"
      params={{ messageId }}
      search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
    >
      {messageId}
    </Link>
  );
}
