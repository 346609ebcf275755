// Both elements in one script, for sites that `closeread leaderboard` and `closeread report --html` write.

import "./leaderboard.js";
import "./scorer.js";
