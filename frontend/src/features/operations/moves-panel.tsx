import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { MoveProgress } from '@/components/move-progress';
import { Panel } from '@/components/panel';
import { isMoving, type Operation } from './operation';
import { queueMovesOf } from './operation-queries';
import type { PlanSegments } from './plan-segments';
import classes from './plan-view.module.css';
import { notedMoves, topicAtWork } from './queue-moves';

type MovesPanelProps = { operation: Operation; segments: PlanSegments | null };

/** How far each logical queue is: as the control plane has it now, or as the journal ends. */
export function MovesPanel({ operation, segments }: MovesPanelProps) {
  const { t } = useTranslation();
  const atWork = isMoving(operation.state) ? topicAtWork(operation) : undefined;
  const query = useQuery({
    ...queueMovesOf(operation, atWork ?? ''),
    enabled: atWork !== undefined,
  });
  const change = query.data?.data.logicalQueues?.change;
  const topics = notedMoves(operation, segments).map((one) =>
    one.topicName === atWork && change?.id === operation.id ? { ...one, moves: change.moves } : one,
  );
  if (topics.length === 0) return null;
  return (
    <Panel title={t('moves.title')}>
      {topics.map(({ topicName, moves }) => (
        <div key={topicName}>
          {topics.length > 1 ? <h3 className={classes.further}>{topicName}</h3> : null}
          <MoveProgress label={t('moves.of', { topicName })} moves={moves} />
        </div>
      ))}
    </Panel>
  );
}
