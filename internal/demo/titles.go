package demo

import (
	"math/rand/v2"
	"strings"
)

// A category is a part of the shelf with its own prices and season.
type category struct {
	name, german string
	price        float64 // of its middle product, in US dollars
	summer       float64 // share by which demand swings between winter and summer
	nouns        []string
}

var categories = [8]category{
	{"Kitchen", "Küche", 27, -0.08, []string{"Enamel Kettle", "Chopping Board", "Pepper Mill", "Bread Box", "Mixing Bowl", "Storage Jar", "Casserole", "Colander"}},
	{"Lighting", "Licht", 34, -0.22, []string{"Reading Lamp", "String Lights", "Motion Night Light", "Table Lantern", "Wall Spotlight", "Candle Holder"}},
	{"Storage", "Ordnung", 31, 0.02, []string{"Shoe Rack", "Folding Crate", "Laundry Basket", "Drawer Organiser", "Coat Stand", "Under-Bed Box"}},
	{"Garden", "Garten", 42, 0.46, []string{"Watering Can", "Raised Bed", "Bird Feeder", "Pruning Shears", "Hose Reel", "Plant Trellis", "Compost Bin"}},
	{"Camping", "Camping", 68, 0.40, []string{"Dome Tent", "Sleeping Mat", "Camp Stove", "Folding Chair", "Cool Box", "Tarp Shelter", "Cookware Set"}},
	{"Hiking", "Wandern", 55, 0.28, []string{"Daypack", "Trekking Poles", "Rain Cover", "Insulated Bottle", "Head Torch", "Gaiters", "Map Case"}},
	{"Cleaning", "Reinigung", 19, 0.03, []string{"Dish Brush", "Floor Mop", "Microfibre Cloths", "Dustpan Set", "Window Squeegee", "Lint Roller"}},
	{"Workshop", "Werkstatt", 38, 0.05, []string{"Tool Roll", "Work Gloves", "Folding Workbench", "Tape Measure", "Parts Cabinet", "Sanding Blocks"}},
}

var (
	series   = []string{"Alder", "Birch", "Cove", "Dune", "Fjell", "Glade", "Heath", "Inlet", "Juniper", "Larch", "Moor", "Rowan"}
	makes    = []string{"Compact", "Heavy-Duty", "Classic", "Lightweight", "Foldable", "Everyday", "Large", "Family"}
	variants = []string{"Forest Green", "Slate Grey", "Oat", "Rust Red", "Deep Blue", "Set of 2", "Set of 4", "Natural", "Charcoal", "Pack of 6"}
)

// oddTitles stand on the first places, one a category in turn, and have what a
// careless reader of tables stumbles over.
var oddTitles = []string{
	`Tannwick Enamel Kettle, 1.2 L, for Gas, Induction and Open Fire`,
	`Tannwick "Glow-Worm" String Lights, 10 m, Warm White`,
	`Tannwick Folding Crate 45 L; Stackable; Set of 3`,
	`Tannwick Gießkanne „Bächlein“ 10 Liter, Grün`,
	`Tannwick Dome Tent for 2 ⛺ Two-Minute Pitch`,
	`Tannwick Fjäll Daypack 24 L – "Sunday" Edition`,
	`Tannwick Spülbürste Buche, 4 Stück`,
	`Tannwick Tape Measure 5 m / 16' 5"`,
	`Tannwick Crème Brûlée Dishes (6), Oven-Safe`,
}

func drawTitle(r *rand.Rand, c *category) string {
	pick := func(words []string) string { return words[r.IntN(len(words))] }
	words := []string{"Tannwick", pick(series), pick(makes), pick(c.nouns)}
	if r.IntN(3) == 0 {
		words = append(words[:2], words[3])
	}
	return strings.Join(words, " ") + " - " + pick(variants)
}
