import { SeenMark } from '@/components/seen-mark';
import type { GroupHealthFieldsFragment, HealthVerdict } from '@/gql/operations';
import { sampleIntervalMs } from '@/lib/intervals';
import { useStaleness } from '@/lib/staleness';
import { Decision } from './decision';
import type { Election, ReplicaGroup } from './replica-group';

type GroupHealthProps = {
  group: ReplicaGroup & { election: Election; health: GroupHealthFieldsFragment | null };
  asked: { dataUpdatedAt: number; error: Error | null };
};

const tones = { HEALTHY: 'good', DEGRADED: 'warn', CRITICAL: 'bad', UNKNOWN: 'unknown' } as const;

/** What is missing or can't be written, before what an election would bring. */
export function GroupHealth({ group, asked }: GroupHealthProps) {
  const staleness = useStaleness(asked, 3 * sampleIntervalMs);
  const { health, election } = group;
  const verdict: HealthVerdict = health?.verdict ?? 'UNKNOWN';
  const isHealthy = verdict === 'HEALTHY' && !staleness.isStale;
  const warning = election.isUnchanged ? null : election.warning;
  return (
    <>
      {health === null ? null : (
        <div>
          <SeenMark tone={tones[verdict]} sentence={health.sentence} staleness={staleness} />
        </div>
      )}
      <div>
        <Decision group={group} election={election} isHealthy={isHealthy} />
      </div>
      {warning === null ? null : (
        <div>
          <SeenMark tone="warn" sentence={warning} staleness={staleness} />
        </div>
      )}
    </>
  );
}
