import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { type ConsumerGroupRow, stateTones } from './consumer-group';

type GroupStateProps = {
  group: Pick<ConsumerGroupRow, 'state' | 'brokerCountTold' | 'brokerCountAsked'>;
};

/** Whether somebody of a group is there, and how many brokers say so where not all do. */
export function GroupState({ group }: GroupStateProps) {
  const { t } = useTranslation();
  const { state, brokerCountTold: reported, brokerCountAsked: asked } = group;
  const word = t(`consumerGroupState.${state}`);
  if (reported === asked || state === 'UNKNOWN')
    return <StateMark tone={stateTones[state]} label={word} />;
  // A broker that did not tell may know of a member, so that nobody is certainly gone.
  const tone = state === 'INACTIVE' ? 'unknown' : stateTones[state];
  return <StateMark tone={tone} label={t('consumerGroup.stateBy', { word, reported, asked })} />;
}
