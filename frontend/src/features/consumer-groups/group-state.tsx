import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { type ConsumerGroupRow, stateTones } from './consumer-group';

type GroupStateProps = {
  group: Pick<ConsumerGroupRow, 'state' | 'brokerCountTold' | 'brokerCountAsked'>;
};

/** Whether a group has members, and how many brokers reported it where not all did. */
export function GroupState({ group }: GroupStateProps) {
  const { t } = useTranslation();
  const { state, brokerCountTold: reported, brokerCountAsked: asked } = group;
  const word = t(`consumerGroupState.${state}`);
  if (reported === asked || state === 'UNKNOWN')
    return <StateMark tone={stateTones[state]} label={word} />;
  // A broker that did not report may know a member, so it is not certain that the group is empty.
  const tone = state === 'INACTIVE' ? 'unknown' : stateTones[state];
  return <StateMark tone={tone} label={t('consumerGroup.stateBy', { word, reported, asked })} />;
}
